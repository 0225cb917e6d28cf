import { useEffect, useState } from 'preact/hooks'

/** There is room for several columns. */
export const WIDE = '(min-width: 64rem)'
/** As in the style sheets: tabs at the bottom, one column. */
export const PHONE = '(max-width: 47.99rem)'

/** Whether the screen is like that. */
export function useMedia(media: string): boolean {
  const [query] = useState(() => matchMedia(media))
  const [matches, setMatches] = useState(query.matches)
  useEffect(() => {
    const changed = (): void => setMatches(query.matches)
    query.addEventListener('change', changed)
    return () => query.removeEventListener('change', changed)
  }, [])
  return matches
}
