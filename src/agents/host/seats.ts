import { join } from 'node:path'
import { openFifo, type FifoWriter } from './fifo.ts'
import { runFiles } from './wrapper.ts'

/** A run's place in a process: alone, or beside others. */
export interface Seat {
  /** One writing end for all that share the process: lines of two writers would mix. */
  readonly fifo: FifoWriter
  alone(): boolean
  /** This run is done with the process; true when all of them are. */
  finish(): boolean
  leave(): void
}

/** Who sits in which process. */
export interface Seats {
  take(process: string, run: string): Seat
  /** How many sit in it. */
  taken(process: string): number
}

interface Bench {
  fifo: FifoWriter
  runs: Set<string>
  finished: Set<string>
}

export function createSeats(runsDir: string): Seats {
  const benches = new Map<string, Bench>()

  function benchOf(process: string): Bench {
    let bench = benches.get(process)
    if (!bench) {
      const fifo = openFifo(runFiles(join(runsDir, process)).input)
      benches.set(process, (bench = { fifo, runs: new Set(), finished: new Set() }))
    }
    return bench
  }

  return {
    take(process, run) {
      const bench = benchOf(process)
      bench.runs.add(run)
      return {
        fifo: bench.fifo,
        alone: () => bench.runs.size === 1,
        finish() {
          bench.finished.add(run)
          return bench.finished.size >= bench.runs.size
        },
        leave() {
          bench.runs.delete(run)
          bench.finished.delete(run)
          if (bench.runs.size > 0) return
          bench.fifo.close()
          if (benches.get(process) === bench) benches.delete(process)
        },
      }
    },
    taken: (process) => benches.get(process)?.runs.size ?? 0,
  }
}
