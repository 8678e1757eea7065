"""Holds this library against Deeplearning4j itself, both ways: `make java-check`. See tests/java/README.md."""
