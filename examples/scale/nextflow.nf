// The tasks of a run as processes of Nextflow, on any of its executors. Not run by the
// tests of kir. Each call does the tasks that can be done now:
//
//   kir sample problem.yaml -o /shared/run --chains 64 --tasks
//   until [ -z "$(kir tasks /shared/run)" ]; do nextflow run nextflow.nf --run /shared/run; done
//   kir merge /shared/run
params.run = null

process list {
  output:
  path 'tasks'

  script:
  "kir tasks '${params.run}' --workers 1 >tasks"
}

process task {
  errorStrategy { task.attempt <= 5 ? 'retry' : 'finish' }
  maxRetries 5
  cpus 1

  input:
  val command

  script:
  command
}

workflow {
  list | splitText { it.trim() } | task
}
