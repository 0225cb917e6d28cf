import { useEffect, useState } from 'preact/hooks'

const WIDE = '(min-width: 64rem)'

/** Whether there is room for several columns. */
export function useWide(): boolean {
  const [query] = useState(() => matchMedia(WIDE))
  const [wide, setWide] = useState(query.matches)
  useEffect(() => {
    const changed = (): void => setWide(query.matches)
    query.addEventListener('change', changed)
    return () => query.removeEventListener('change', changed)
  }, [])
  return wide
}
