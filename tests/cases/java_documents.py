"""Documents of older releases beside those that are written now."""


def without_newer_fields(document):
    """Return a document without what releases after that of these files write too."""
    for layer in (conf["layer"] for conf in document["confs"]):
        for name in ("cnn2dDataFormat", "timeDistributedFormat"):
            layer.pop(name, None)
    for preprocessor in document["inputPreProcessors"].values():
        preprocessor.pop("format", None)
    return document
