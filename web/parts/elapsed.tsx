import { useComputed, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { second } from '../state/seconds.ts'
import { elapsed } from './relative.ts'

/** How long it has been going on, counting up: only the text changes. */
export function Elapsed({ since, label }: { since: number; label: string }) {
  const start = useSignal(since)
  useEffect(() => void (start.value = since), [since])
  const text = useComputed(() => elapsed(Math.max(0, second.value - start.value)))
  return (
    <span class="numbers" title={`${label} ${new Date(since).toLocaleString()}`}>
      {text}
    </span>
  )
}
