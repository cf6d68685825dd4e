# Rscript posterior.R FILE: FILE is a CSV with columns chain, draw and the
# quantities; prints the figures that R's posterior package gives for them.
suppressMessages(library(posterior))
d <- read.csv(commandArgs(trailingOnly = TRUE)[1], check.names = FALSE)
figures <- list(
  mean = mean, sd = stats::sd, q5 = function(x) quantile(x, 0.05, names = FALSE),
  median = stats::median, q95 = function(x) quantile(x, 0.95, names = FALSE),
  ess_mean = ess_mean, ess_bulk = ess_bulk, ess_tail = ess_tail, rhat = rhat
)
cat("quantity,figure,value\n")
for (quantity in setdiff(names(d), c("chain", "draw"))) {
  x <- matrix(d[[quantity]], ncol = length(unique(d$chain))) # a column a chain
  for (f in names(figures)) {
    cat(sprintf("\"%s\",%s,%.17g\n", quantity, f, figures[[f]](x)))
  }
}
