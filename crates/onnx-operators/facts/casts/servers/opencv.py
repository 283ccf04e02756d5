"""Runs models in the DNN module of OpenCV."""

import cv2
import numpy as np
from serving import array_of, serve, value_of


def run(model, inputs):
    net = cv2.dnn.readNetFromONNX(np.frombuffer(model, "u1"))
    for name, value in inputs.items():
        net.setInput(np.array(array_of(value)), name)
    return [value_of(each) for each in net.forward(net.getUnconnectedOutLayersNames())]


serve(run)
