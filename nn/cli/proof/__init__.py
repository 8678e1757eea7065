"""A proof that a file that was written computes what the one before it computed: both are run on the same inputs."""
