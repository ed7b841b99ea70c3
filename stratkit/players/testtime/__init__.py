"""DeepNash's post-processing of a policy at test time (Perolat et al. 2022, supplement)."""
