import { useEffect, useRef, useState } from 'preact/hooks'
import { client, status } from '../../state/connection.ts'
import type { Hit, SearchQuery } from '../../state/found.ts'
import { problemOf } from '../use-call.ts'

export interface Search {
  hits: readonly Hit[]
  /** What was looked for in what is shown; null: nothing yet. */
  shownFor: string | null
  problem: string | null
  isLoading: boolean
  hasMore: boolean
  readMore(): void
  again(): void
}

interface Found {
  hits: readonly Hit[]
  next: string | null
  shownFor: string | null
}

/** So long after the last letter. */
const PAUSE_MS = 200
const PAGE = 30
const NOTHING: Found = { hits: [], next: null, shownFor: null }

/** Looks while somebody types. What was found stays until something else is. */
export function useSearch({ text, sessionId }: SearchQuery): Search {
  const [found, setFound] = useState<Found>(NOTHING)
  const [problem, setProblem] = useState<string | null>(null)
  const [isLoading, setLoading] = useState(false)
  const asked = useRef(0)
  const wanted = text.trim()
  const isLive = status.value === 'live'

  async function look(cursor: string | null): Promise<void> {
    const mine = ++asked.current
    setLoading(true)
    try {
      const page = await client().call('messages.search', {
        text: wanted,
        limit: PAGE,
        ...(sessionId !== null && { sessionId }),
        ...(cursor !== null && { cursor }),
      })
      if (asked.current !== mine) return
      const before = cursor === null ? [] : found.hits
      setFound({ hits: [...before, ...page.hits], next: page.next, shownFor: wanted })
      setProblem(null)
    } catch (error) {
      if (asked.current === mine) setProblem(problemOf(error))
    } finally {
      if (asked.current === mine) setLoading(false)
    }
  }

  useEffect(() => {
    asked.current += 1
    if (wanted === '') {
      setFound(NOTHING)
      setLoading(false)
      return
    }
    if (!isLive) return
    const timer = setTimeout(() => void look(null), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [wanted, sessionId, isLive])

  const { hits, next, shownFor } = found
  return {
    hits,
    shownFor,
    problem,
    isLoading,
    hasMore: next !== null,
    readMore: () => void look(next),
    again: () => void look(null),
  }
}
