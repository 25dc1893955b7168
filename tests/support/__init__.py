"""Support for tests, sweeps and benchmarks: servers, models and services that are none of the package."""
