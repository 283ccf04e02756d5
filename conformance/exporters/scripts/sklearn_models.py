# ruff: noqa: E501
"""Fitted estimators of scikit-learn (skl2onnx), LightGBM and XGBoost (onnxmltools)."""

import warnings

import numpy as np
from common_export import write_all
from lightgbm import LGBMClassifier, LGBMRegressor
from onnxmltools.convert import convert_lightgbm, convert_xgboost
from onnxmltools.convert.common.data_types import FloatTensorType as ToolsFloat
from skl2onnx import to_onnx
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import GradientBoostingClassifier, IsolationForest, RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import SelectKBest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import ElasticNet, LogisticRegression, Ridge
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, MinMaxScaler, Normalizer, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor
from xgboost import XGBClassifier, XGBRegressor

warnings.filterwarnings("ignore")
random = np.random.default_rng(0)
X = random.normal(size=(60, 6)).astype(np.float32)
LABELS, VALUES = (X[:, 0] + X[:, 1] > 0).astype(np.int64) + (X[:, 2] > 1), (X @ np.arange(6)).astype(np.float32)

ESTIMATORS = {
    "logistic": (LogisticRegression(), LABELS),
    "ridge_scaled": (make_pipeline(StandardScaler(), Ridge()), VALUES),
    "elastic_minmax": (make_pipeline(MinMaxScaler(), PolynomialFeatures(2), ElasticNet()), VALUES),
    "forest": (RandomForestClassifier(5, random_state=0), LABELS),
    "forest_regressor": (RandomForestRegressor(5, random_state=0), VALUES),
    "boosting": (GradientBoostingClassifier(n_estimators=5), LABELS),
    "isolation": (IsolationForest(n_estimators=5, random_state=0), None),
    "svc": (SVC(probability=True), LABELS),
    "mlp": (MLPClassifier((8,), max_iter=50), LABELS),
    "neighbors": (KNeighborsClassifier(3), LABELS),
    "neighbors_regressor": (KNeighborsRegressor(3), VALUES),
    "bayes": (GaussianNB(), LABELS),
    "mixture": (GaussianMixture(2), None),
    "process": (GaussianProcessRegressor(), VALUES),
    "kmeans": (KMeans(3, n_init=1), None),
    "pca": (make_pipeline(SimpleImputer(), PCA(3), Normalizer(), DecisionTreeRegressor(max_depth=3)), VALUES),
    "columns": (make_pipeline(ColumnTransformer([("a", StandardScaler(), [0, 2]), ("b", KBinsDiscretizer(3, encode="ordinal"), [1, 3])]), SelectKBest(k=3), LogisticRegression()), LABELS),
}


def cases():
    for name, (estimator, target) in ESTIMATORS.items():
        for opset in (None, 15):
            yield f"{name}{f'_{opset}' if opset else ''}", lambda e=estimator, t=target, o=opset: (to_onnx(e.fit(X, t), X[:1], target_opset={"": o or 18, "ai.onnx.ml": 3}), [X[:7]])
    types = [("input", ToolsFloat([None, 6]))]
    for name, estimator, target, convert in (
        ("lightgbm", LGBMClassifier(n_estimators=4, verbose=-1), LABELS, convert_lightgbm),
        ("lightgbm_regressor", LGBMRegressor(n_estimators=4, verbose=-1), VALUES, convert_lightgbm),
        ("xgboost", XGBClassifier(n_estimators=4), LABELS, convert_xgboost),
        ("xgboost_regressor", XGBRegressor(n_estimators=4), VALUES, convert_xgboost),
    ):
        yield name, lambda e=estimator, t=target, c=convert: (c(e.fit(X, t), initial_types=types), [X[:7]])


write_all(cases())
