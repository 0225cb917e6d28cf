import { once } from 'node:events'
import { join } from 'node:path'
import type { CountJob, Counted } from './counter.ts'
import type { Workshop } from './workshop.ts'

const COUNTER = join(import.meta.dirname, 'counter.ts')

/** Runs the counter; `whenReady` is called when every connection has had an answer. */
export async function count(shop: Workshop, job: CountJob, whenReady?: () => void): Promise<Counted> {
  const child = shop.spawn(process.execPath, [COUNTER, JSON.stringify(job)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  let told = false
  child.stdout!.on('data', (bytes: Buffer) => {
    printed += bytes.toString()
    if (told || !printed.includes('ready\n')) return
    told = true
    whenReady?.()
  })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`the counter ended with ${code}`)
  return JSON.parse(printed.trim().split('\n').at(-1)!) as Counted
}
