"""Files of real Java, read and written field by field; and files that are wrong."""

import json

import numpy as np
import pytest

import nd
from nd import serde
from nd.evaluation import ROC, EvaluationCalibration, RegressionEvaluation, ROCBinary, ROCMultiClass
from tests.cells import every_row

NEW = [
    (ROCMultiClass, "LenetMnist/evaluation/1.ROCMultiClass.json"),
    (ROCMultiClass, "MLPMoon/evaluation/1.ROCMultiClass.json"),
    (EvaluationCalibration, "MLPMoon/evaluation/2.EvaluationCalibration.json"),
]


@pytest.mark.parametrize(("kind", "path"), NEW)
def test_round_trip_of_java_files(reference, kind, path):
    text = (reference / path).read_text()
    written = json.loads(kind.from_json(text).to_json())
    assert written == json.loads(text)
    assert list(written) == list(json.loads(text))  # Java's order of fields


def renamed(value):
    """Java's file of before 1.0.0-beta3 with the names of classes as they are now."""
    text = json.dumps(value).replace("org.deeplearning4j.eval.curves", "org.nd4j.evaluation.curves")
    text = text.replace("org.deeplearning4j.eval.R", "org.nd4j.evaluation.classification.R")
    return json.loads(text.replace("classification.RegressionE", "regression.RegressionE"))


def test_the_old_package_of_rocs(reference):
    text = (reference / "regression/eval_100b/rocMultiClass.json").read_text()
    old, evaluation = renamed(json.loads(text)), ROCMultiClass.from_json(text)
    written = json.loads(evaluation.to_json())
    assert written.pop("axis") == 1  # which there was not yet
    assert written == old
    for cls, roc in enumerate(old["underlying"]):
        assert evaluation.calculate_auc(cls) == roc["auc"]
        assert evaluation.calculate_auc_pr(cls) == roc["auprc"]


def test_the_old_package_of_regression(reference):
    text = (reference / "regression/eval_100b/regressionEvaluation.json").read_text()
    old, written = renamed(json.loads(text)), json.loads(RegressionEvaluation.from_json(text).to_json())
    assert written.pop("axis") == 1
    assert written.keys() == old.keys()
    for name, value in written.items():  # plain lists then, objects now
        assert old[name] == (value["data"] if isinstance(value, dict) else value)


@pytest.mark.parametrize("path", [path for kind, path in NEW if kind is ROCMultiClass])
def test_areas_that_java_wrote_are_those_of_its_curves(reference, path):
    for fields in json.loads((reference / path).read_text())["underlying"]:
        areas = fields["auc"], fields["auprc"]
        for name in ("auc", "area"):
            fields["rocCurve"].pop(name, None), fields["prCurve"].pop(name, None)
        roc = ROC.from_json(json.dumps(fields))
        assert (roc.calculate_auc(), roc.calculate_auc_pr()) == pytest.approx(areas, rel=1e-12)


def calibration(reference):
    return json.loads((reference / NEW[2][1]).read_text())


def test_three_spellings_of_an_array(reference):
    fields = calibration(reference)
    matrix = serde.array_from_json(fields["rDiagBinTotalCount"])
    for spelling in (serde.array_to_json(matrix), fields["rDiagBinTotalCount"]["array"], matrix.tolist()):
        spelled = EvaluationCalibration.from_json(json.dumps(fields | {"rDiagBinTotalCount": spelling}))
        assert json.loads(spelled.to_json()) == fields
    row = fields["labelCountsEachClass"]["data"]
    assert (
        json.loads(EvaluationCalibration.from_json(json.dumps(fields | {"labelCountsEachClass": row})).to_json())
        == fields
    )


@every_row(
    ("change", "message"),
    [
        ({"reliabilityDiagNumBins": 0}, "must be at least 1"),
        ({"reliabilityDiagNumBins": 9}, r"rDiagBinPosCount must have the shape \[9, 2\], got \[10, 2\]"),
        ({"histogramNumBins": None}, "histogramNumBins must be an integer"),
        ({"excludeEmptyBins": "yes"}, "excludeEmptyBins must be true or false, got 'yes'"),
        ({"rDiagBinTotalCount": [1, 2]}, "rDiagBinTotalCount must be a matrix"),
        ({"rDiagBinSumPredictions": None}, "rDiagBinSumPredictions must be an array of counts, got None"),
        ({"residualPlotOverall": [-1.0] * 50}, "residualPlotOverall must be an array of counts"),
        ({"rDiagBinPosCount": {"array": "AB=="}}, "read_array"),
        ({"@class": "org.nd4j.evaluation.classification.ROC"}, r"or org\.deeplearning4j\.eval\.EvaluationCalibration"),
    ],
)
def test_bad_calibrations(reference, change, message):
    with pytest.raises(nd.FormatError, match=message):
        EvaluationCalibration.from_json(json.dumps(calibration(reference) | change))


def roc(steps):
    evaluation = ROC(steps)
    evaluation.eval([[0], [1], [1]], [[0.25], [0.5], [0.125]])
    return json.loads(evaluation.to_json())


@every_row(
    ("steps", "change", "message"),
    [
        (0, {"exampleCount": 4}, "exampleCount must be the sum of both counts, got 4"),
        (0, {"isExact": False}, "isExact must be true if thresholdSteps is 0, else false, got False"),
        (0, {"rocCurve": None}, "RocCurve.from_json: expected an object .*got 'NoneType'"),
        (0, {"prCurve": 3}, "PrecisionRecallCurve.from_json: expected an object .*got 'int'"),
        (0, {"countActualPositive": 2**63}, "countActualPositive must be an integer of 0 to 9223372036854775807"),
        (2, {"thresholdSteps": 3}, "counts must be an object of 4 thresholds"),
        (2, {"counts": []}, "counts must be an object of 3 thresholds"),
        (2, {"counts": {"0.0": 1, "0.5": 1, "1.0": 1}}, "counts must have two counts for the threshold 0.0, got 1"),
        (1, {"counts": {"0.0": {"threshold": 0.5}, "1.0": {}}}, r"two counts for the threshold 0\.0"),
        (1, {"rocRemoveRedundantPts": None}, "rocRemoveRedundantPts must be true or false"),
    ],
)
def test_bad_rocs(steps, change, message):
    with pytest.raises(nd.FormatError, match=message):
        ROC.from_json(json.dumps(roc(steps) | change))


@every_row(
    ("change", "message"),
    [
        ({"underlying": []}, "underlying must be a list of ROCs or null"),
        ({"underlying": {}}, "underlying must be a list of ROCs or null"),
        ({"underlying": [3]}, "ROC.from_json: expected an object of class .*got 'int'"),
        ({"thresholdSteps": 4}, r"every ROC must have 4 thresholdSteps, got \[0, 0\]"),
        ({"labels": ["a"]}, r"there must be 2 labels, got \['a'\]"),
        ({"labels": [1, 2]}, "labels must be a list of strings or null"),
    ],
)
@every_row("kind", [ROCBinary, ROCMultiClass])
def test_bad_columns(kind, change, message):
    evaluation = kind()
    evaluation.eval(np.eye(2), np.eye(2))
    with pytest.raises(nd.FormatError, match=message):
        kind.from_json(json.dumps(json.loads(evaluation.to_json()) | change))


@every_row("kind", [ROC, ROCBinary, ROCMultiClass, EvaluationCalibration, RegressionEvaluation])
@every_row(("text", "message"), [("{", "must be JSON, got"), ("[1]", "got 'list'"), ("{}", "got None")])
def test_not_an_evaluation(kind, text, message):
    article = "an" if kind.__name__[0] == "E" else "a"
    with pytest.raises(
        nd.FormatError, match=rf"{kind.__name__}\.from_json: .*{message}.*wrote for {article} {kind.__name__}"
    ):
        kind.from_json(text)
