"""Object detection: boxes around what a picture shows."""
