import { setImmediate, setTimeout } from 'node:timers/promises'
import type { NamedCall, NamedStep } from './tools.ts'

/** What an API does with a script that is played. A block is opened before its deltas and closed after them. */
export interface Stage {
  open(kind: 'text' | 'thinking'): void
  delta(text: string): void
  close(): void
  call(call: NamedCall): void
  fail(status: number): void
  /** Resolves when what was said so far has room to leave. */
  flush(): Promise<void>
}

const BURST_BATCH = 200

/** Plays steps in real time; resolves to false when it was cut short by a failure or by `signal`. */
export async function play(steps: readonly NamedStep[], stage: Stage, signal: AbortSignal): Promise<boolean> {
  for (const step of steps) {
    if (signal.aborted) return false
    switch (step.do) {
      case 'say':
      case 'tell':
      case 'think':
        speak(stage, step.do === 'think' ? 'thinking' : 'text', step.text)
        break
      case 'drip':
        await drip(stage, step.words, step.everyMs, signal)
        break
      case 'burst':
        await burst(stage, step.count, step.bytes, signal)
        break
      case 'call':
        stage.call(step.call)
        break
      case 'wait':
        await setTimeout(step.ms, undefined, { signal }).catch(() => undefined)
        break
      case 'fail':
        stage.fail(step.status)
        return false
      case 'hang':
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
        return false
    }
    await stage.flush()
  }
  return !signal.aborted
}

function speak(stage: Stage, kind: 'text' | 'thinking', text: string): void {
  stage.open(kind)
  for (const piece of text.match(/\s+\S*|\S+/g) ?? []) stage.delta(piece)
  stage.close()
}

async function drip(stage: Stage, words: number, everyMs: number, signal: AbortSignal): Promise<void> {
  stage.open('text')
  for (let told = 0; told < words && !signal.aborted; told++) {
    if (told > 0) await setTimeout(everyMs, undefined, { signal }).catch(() => undefined)
    if (!signal.aborted) stage.delta(told === 0 ? 'w1' : ` w${told + 1}`)
    await stage.flush()
  }
  stage.close()
}

async function burst(stage: Stage, count: number, bytes: number, signal: AbortSignal): Promise<void> {
  const piece = 'x'.repeat(bytes)
  stage.open('text')
  for (let told = 0; told < count && !signal.aborted; told++) {
    stage.delta(piece)
    if (told % BURST_BATCH !== BURST_BATCH - 1) continue
    await stage.flush()
    await setImmediate()
  }
  stage.close()
}
