import type { Api } from '../../client/client.ts'
import { firstLineOf, type ChangesQuery, type Scope } from '../../state/changes/scope.ts'
import { Segments, type Option } from '../choice.tsx'
import { inertLine } from '../inert.ts'

type Turn = Api['turn.list']['result']['turns'][number]
export type Shape = 'unified' | 'split'

const SCOPES: readonly Option<Scope>[] = [
  { value: 'turn', label: 'Turn' },
  { value: 'session', label: 'Session' },
  { value: 'branch', label: 'Branch' },
  { value: 'uncommitted', label: 'Uncommitted' },
]

const SHAPES: readonly Option<Shape>[] = [
  { value: 'unified', label: 'Unified' },
  { value: 'split', label: 'Side by side' },
]

interface ToolbarProps {
  query: ChangesQuery
  turns: readonly Turn[]
  shape: Shape
  isWide: boolean
  onQuery(query: ChangesQuery): void
  onShape(shape: Shape): void
}

/** What is looked at, and how. */
export function Toolbar({ query, turns, shape, isWide, onQuery, onShape }: ToolbarProps) {
  return (
    <div class="changes-tools" role="toolbar" aria-label="What is shown">
      <Segments
        label="Changes of"
        options={SCOPES}
        value={query.scope}
        onChange={(scope) => onQuery({ scope, turnId: null })}
      />
      {query.scope === 'turn' && turns.length > 0 && (
        <TurnChoice
          turns={turns}
          turnId={query.turnId}
          onChange={(turnId) => onQuery({ scope: 'turn', turnId })}
        />
      )}
      {isWide && <Segments label="Shape" options={SHAPES} value={shape} onChange={onShape} />}
    </div>
  )
}

interface TurnChoiceProps {
  turns: readonly Turn[]
  turnId: string | null
  onChange(turnId: string | null): void
}

function TurnChoice({ turns, turnId, onChange }: TurnChoiceProps) {
  return (
    <select
      class="input changes-turn"
      aria-label="Turn"
      value={turnId ?? ''}
      onChange={({ currentTarget }) => onChange(currentTarget.value === '' ? null : currentTarget.value)}
    >
      <option value="">The last turn</option>
      {turns.map(({ id, input }) => (
        <option key={id} value={id}>
          {inertLine(firstLineOf(input))}
        </option>
      ))}
    </select>
  )
}
