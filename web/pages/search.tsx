import { useEffect, useRef, useState } from 'preact/hooks'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { Failed } from '../parts/failed.tsx'
import { inertLine } from '../parts/inert.ts'
import { Page } from '../parts/page.tsx'
import { Results } from '../parts/search/results.tsx'
import { useSearch, type Search } from '../parts/search/use-search.ts'
import { Spinner } from '../parts/spinner.tsx'
import { useSessions } from '../parts/use-sessions.ts'
import { plural } from '../state/figures.ts'
import { queryIn, searchPath, type SearchQuery } from '../state/found.ts'
import { go, query as address } from '../state/router.ts'

/** Everything that was said, by anybody, in any session. */
export function SearchPage() {
  const [query, setQuery] = useState<SearchQuery>(() => queryIn(address.value))
  const search = useSearch(query)
  const typed = useRef(searchPath(query))
  useEffect(() => {
    // Somebody came here by a link, or went back; what is typed here has changed the address itself.
    const asked = queryIn(address.value)
    if (searchPath(asked) !== typed.current) change(asked)
  }, [address.value])
  function change(next: SearchQuery): void {
    setQuery(next)
    typed.current = searchPath(next)
    go(typed.current, { replace: true })
  }
  return (
    <Page title="Search">
      <form class="search-form" role="search" onSubmit={(event) => event.preventDefault()}>
        <SearchField text={query.text} onText={(text) => change({ ...query, text })} />
        {query.sessionId !== null && (
          <Only sessionId={query.sessionId} onAll={() => change({ ...query, sessionId: null })} />
        )}
      </form>
      <Outcome query={query} search={search} onNarrow={(sessionId) => change({ ...query, sessionId })} />
    </Page>
  )
}

function SearchField({ text, onText }: { text: string; onText(text: string): void }) {
  const field = useRef<HTMLInputElement>(null)
  // After the page has put the focus on its heading.
  useEffect(() => void requestAnimationFrame(() => field.current?.focus()), [])
  return (
    <input
      ref={field}
      class="input search-field"
      type="search"
      aria-label="What to look for"
      placeholder='Words, "words in a row", begin*'
      autocomplete="off"
      spellcheck={false}
      maxLength={1000}
      value={text}
      onInput={({ currentTarget }) => onText(currentTarget.value)}
    />
  )
}

function Only({ sessionId, onAll }: { sessionId: string; onAll(): void }) {
  const session = useSessions([sessionId]).get(sessionId)
  return (
    <span class="along">
      <Badge tone="working">in {session ? inertLine(session.name) : sessionId.slice(0, 8)}</Badge>
      <Button kind="quiet" label="In all sessions" onClick={onAll} />
    </span>
  )
}

interface OutcomeProps {
  query: SearchQuery
  search: Search
  onNarrow(sessionId: string): void
}

function Outcome({ query, search, onNarrow }: OutcomeProps) {
  const { hits, shownFor, problem, isLoading, hasMore } = search
  if (problem !== null) return <Failed what="The search failed" problem={problem} onRetry={search.again} />
  if (query.text.trim() === '') {
    return (
      <Empty icon="search" title="Search everything that was said">
        All of the words must be there; the last one may be a beginning. Put words that stand in a row into
        quotes.
      </Empty>
    )
  }
  if (shownFor === null) return <Spinner label="Looking" />
  if (hits.length === 0) {
    return (
      <Empty icon="search" title="Nothing was found">
        Nobody has said that{query.sessionId === null ? '' : ' in this session'}. Try fewer words, or the
        beginning of one with a star.
      </Empty>
    )
  }
  return (
    <>
      <p class="muted small" role="status">
        {plural(hits.length, 'place')}
        {hasMore && ', and more'}
      </p>
      <Results hits={hits} sessionId={query.sessionId} onNarrow={onNarrow} />
      {hasMore && (
        <div>
          <Button label="More" busy={isLoading} onClick={search.readMore} />
        </div>
      )}
    </>
  )
}
