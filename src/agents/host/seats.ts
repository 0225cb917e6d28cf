import { join } from 'node:path'
import { openFifo, type FifoWriter } from './fifo.ts'
import { runFiles } from './wrapper.ts'

/** A run's seat in a process: alone, or beside others. */
export interface Seat {
  /** One writing end for all that share the process: lines of two writers would mix. */
  readonly fifo: FifoWriter
  /** Nobody else is in the process, or about to be. */
  alone(): boolean
  /** Nobody else may come in: it is going to end. */
  shut(): void
  /** This run is done with the process; true when all of them are. */
  finish(): boolean
  leave(): void
}

/** Who sits in which process. */
export interface Seats {
  take(process: string, run: string): Seat
  /** True when nobody is in it, or about to be; then nobody may come in any more. */
  vacate(process: string): boolean
  /** Keeps a seat for somebody who is about to sit down, until he lets go; null when there is none. */
  reserve(process: string, seats: number): (() => void) | null
}

interface Bench {
  fifo: FifoWriter
  runs: Set<string>
  finished: Set<string>
  reserved: number
}

export function createSeats(runsDir: string): Seats {
  const benches = new Map<string, Bench>()
  /** Processes on their way out. */
  const shut = new Set<string>()

  function benchOf(process: string): Bench {
    let bench = benches.get(process)
    if (!bench) {
      const fifo = openFifo(runFiles(join(runsDir, process)).input)
      benches.set(process, (bench = { fifo, runs: new Set(), finished: new Set(), reserved: 0 }))
    }
    return bench
  }

  function close(process: string, bench: Bench): void {
    if (occupied(bench) > 0) return
    bench.fifo.close()
    if (benches.get(process) === bench) benches.delete(process)
  }

  return {
    take(process, run) {
      const bench = benchOf(process)
      bench.runs.add(run)
      return {
        fifo: bench.fifo,
        alone: () => occupied(bench) === 1,
        shut: () => void shut.add(process),
        finish() {
          bench.finished.add(run)
          return bench.finished.size >= bench.runs.size
        },
        leave() {
          bench.runs.delete(run)
          bench.finished.delete(run)
          close(process, bench)
        },
      }
    },
    vacate(process) {
      if (benches.has(process)) return false
      shut.add(process)
      return true
    },
    reserve(process, seats) {
      if (shut.has(process)) return null
      const bench = benchOf(process)
      if (occupied(bench) >= seats) return null
      bench.reserved++
      return () => {
        bench.reserved--
        close(process, bench)
      }
    },
  }
}

function occupied({ runs, reserved }: Bench): number {
  return runs.size + reserved
}
