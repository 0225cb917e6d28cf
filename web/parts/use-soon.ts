import { useEffect, useRef, useState } from 'preact/hooks'

/** As long as a slip of the finger can be taken back. */
const SOON_MS = 4000

export interface Soon {
  isDue: boolean
  begin(): void
  undo(): void
}

/** Does in a moment what cannot be taken back afterwards; at once when whoever wants it looks away. */
export function useSoon(act: () => void): Soon {
  const [isDue, setDue] = useState(false)
  const due = useRef<(() => void) | null>(null)
  useEffect(() => {
    if (!isDue) return
    const run = (): void => {
      due.current?.()
      due.current = null
      setDue(false)
    }
    const onHidden = (): void => void (document.hidden && run())
    const timer = setTimeout(run, SOON_MS)
    document.addEventListener('visibilitychange', onHidden)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', onHidden)
      // Nobody has undone it: it is no longer shown.
      due.current?.()
      due.current = null
    }
  }, [isDue])
  return {
    isDue,
    begin() {
      due.current = act
      setDue(true)
    },
    undo() {
      due.current = null
      setDue(false)
    },
  }
}
