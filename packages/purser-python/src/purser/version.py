"""The version of the package. The build backend reads it from here."""

VERSION = "0.1.0"
