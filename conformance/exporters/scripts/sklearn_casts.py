# ruff: noqa: E501
"""Pipelines of scikit-learn with casts: inputs of integers and DOUBLE, encoders, and CastTransformer, exported by skl2onnx."""

import warnings

import numpy as np
from common_export import write_all
from skl2onnx import to_onnx
from skl2onnx.sklapi import CastTransformer
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer, FunctionTransformer, KBinsDiscretizer, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

warnings.filterwarnings("ignore")
random = np.random.default_rng(0)
X = random.normal(size=(60, 6))
WHOLE = random.integers(0, 4, (60, 4))
LABELS, VALUES = (X[:, 0] + X[:, 1] > 0).astype(np.int64), X @ np.arange(6)
mixed = ColumnTransformer([("a", StandardScaler(), [0, 2]), ("b", make_pipeline(Binarizer(), CastTransformer(np.float32)), [1, 3])])

ESTIMATORS = {
    "cast_tree": (make_pipeline(StandardScaler(), CastTransformer(np.float32), DecisionTreeRegressor(max_depth=4)), X, VALUES),
    "cast_twice": (make_pipeline(CastTransformer(np.float64), StandardScaler(), CastTransformer(np.float32), CastTransformer(np.float32), Ridge()), X.astype(np.float32), VALUES),
    "cast_integers": (make_pipeline(CastTransformer(np.float32), StandardScaler(), LogisticRegression()), WHOLE, LABELS),
    "one_hot": (make_pipeline(OneHotEncoder(sparse_output=False), LogisticRegression()), WHOLE, LABELS),
    "ordinal": (make_pipeline(OrdinalEncoder(), DecisionTreeClassifier(max_depth=4)), WHOLE, LABELS),
    "bins": (make_pipeline(KBinsDiscretizer(3, encode="onehot-dense"), LogisticRegression()), X, LABELS),
    "double_logistic": (make_pipeline(StandardScaler(), LogisticRegression()), X, LABELS),
    "columns_mixed": (make_pipeline(mixed, LogisticRegression()), X.astype(np.float32), LABELS),
    "voting": (VotingClassifier([("a", LogisticRegression()), ("b", DecisionTreeClassifier(max_depth=3))], voting="soft", flatten_transform=False), X.astype(np.float32), LABELS),
    "svc_integers": (SVC(), WHOLE, LABELS),
    "passed_through": (make_pipeline(FunctionTransformer(), StandardScaler(), Ridge()), X.astype(np.float32), VALUES),
}


def cases():
    for name, (estimator, inputs, target) in ESTIMATORS.items():
        for opset in (18, 15):
            yield f"{name}_{opset}", lambda e=estimator, x=inputs, t=target, o=opset: (to_onnx(e.fit(x, t), x[:1], target_opset={"": o, "ai.onnx.ml": 3}), [x[:7]])


write_all(cases())
