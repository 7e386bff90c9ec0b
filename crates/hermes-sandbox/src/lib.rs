//! Where commands run: backends, container lifecycle, sweeps.
