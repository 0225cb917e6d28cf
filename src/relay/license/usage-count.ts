import { readFileSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { z } from 'zod'

/** Counts the calls of a month (UTC), in a file that survives whatever happens to this process. */
export interface UsageCount {
  /** Of this month. */
  used(): number
  /** One more; resolves when it is written. Calls that come together are written together. */
  add(): Promise<void>
  /** Somebody who counts for several machines has counted this many. */
  atLeast(used: number): Promise<void>
}

export interface UsageCountOptions {
  path: string
  now: () => number
  onProblem?(problem: string): void
}

const fileSchema = z.object({ month: z.string().regex(/^\d{4}-\d{2}$/), used: z.int().min(0) })
type Count = z.output<typeof fileSchema>

export function openUsageCount({ path, now, onProblem }: UsageCountOptions): UsageCount {
  let count = read(path, onProblem)
  let waiting: PromiseWithResolvers<void> | null = null
  let writing: Promise<void> | null = null

  /** A clock that goes back does not give back what was used. */
  function current(): Count {
    const month = new Date(now()).toISOString().slice(0, 7)
    if (month > count.month) count = { month, used: 0 }
    return count
  }

  /** One write under way at a time; what gathers meanwhile is the next one. */
  async function write(): Promise<void> {
    while (waiting) {
      const { resolve, reject } = waiting
      waiting = null
      await replace(path, JSON.stringify(count)).then(resolve, reject)
    }
    writing = null
  }

  function written(): Promise<void> {
    waiting ??= Promise.withResolvers<void>()
    const { promise } = waiting
    writing ??= write()
    return promise
  }

  return {
    used: () => current().used,
    add() {
      count = { ...current(), used: current().used + 1 }
      return written()
    },
    async atLeast(used) {
      if (used <= current().used) return
      count = { ...count, used }
      await written()
    },
  }
}

function read(path: string, onProblem: UsageCountOptions['onProblem']): Count {
  try {
    return fileSchema.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      onProblem?.(`${path} cannot be read: the calls of this month are counted from zero`)
    }
    return { month: '0000-00', used: 0 }
  }
}

async function replace(path: string, content: string): Promise<void> {
  const draft = `${path}.${process.pid}`
  const file = await open(draft, 'w', 0o600)
  try {
    await file.writeFile(content)
    await file.datasync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
}
