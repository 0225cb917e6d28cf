import { Component, createRef } from 'preact'
import type { SessionView } from '../../../src/dialects/native/wire.ts'
import { keepPosition, positionIn } from '../../state/positions.ts'
import type { OpenSession } from '../../state/session.ts'
import type { VisibleRow } from '../../state/transcript.ts'
import { Empty } from '../empty.tsx'
import { Spinner } from '../spinner.tsx'
import { Timeline, type Position } from '../timeline.tsx'
import { RowView } from '../rows/row.tsx'
import { estimateOf } from '../rows/estimate.ts'

export interface ConversationHandle {
  /** Reads back as far as need be, and shows what was said there. */
  show(seq: number, turnId: string | null): Promise<void>
  focus(): void
}

interface ConversationProps {
  session: OpenSession
  view: SessionView
  /** Somebody wants to say it again. */
  onReuse(text: string): void
}

/** How long a place that was jumped to stands out. */
const SHOWN_MS = 2000

/** All that was said and done, as far as it was read. */
export class Conversation extends Component<ConversationProps> implements ConversationHandle {
  readonly #timeline = createRef<Timeline<VisibleRow>>()
  readonly #root = createRef<HTMLDivElement>()
  #found: string | null = null
  #timer: ReturnType<typeof setTimeout> | undefined
  readonly #begin: Position | null

  constructor(props: ConversationProps) {
    super(props)
    this.#begin = positionIn(props.session.id)
  }

  async show(seq: number, turnId: string | null): Promise<void> {
    const id = await this.props.session.reach(seq, turnId)
    if (id === null) return
    this.#found = id
    this.setState({}, () => this.#timeline.current?.toItem(id))
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#found = null
      this.setState({})
    }, SHOWN_MS)
  }

  focus(): void {
    this.#root.current?.querySelector<HTMLElement>('[role="log"]')?.focus()
  }

  override componentDidMount(): void {
    addEventListener('pagehide', this.#leave)
    const at = Number(new URLSearchParams(location.search).get('at'))
    if (Number.isSafeInteger(at) && at > 0) void this.show(at, null)
  }

  override componentWillUnmount(): void {
    removeEventListener('pagehide', this.#leave)
    clearTimeout(this.#timer)
  }

  override render() {
    const { session, view, onReuse } = this.props
    const items = session.order.value
    if (items.length === 0) return <Nothing />
    return (
      <div class="conversation" ref={this.#root}>
        <Timeline
          ref={this.#timeline}
          items={items}
          label="Conversation"
          begin={this.#begin}
          head={session.more.value && <Loading />}
          estimate={({ id }) => estimateOf(session.row(id).peek())}
          isKept={({ id }) => asks(session, id)}
          onStart={this.#older}
          onPosition={(position) => keepPosition(session.id, position)}
          render={({ id, depth }) => (
            <RowView
              id={id}
              depth={depth}
              session={session}
              view={view}
              isFound={id === this.#found}
              onReuse={onReuse}
              onToggle={() => {
                this.#timeline.current?.hold()
                session.toggle(id)
              }}
            />
          )}
        />
      </div>
    )
  }

  readonly #older = (): void => {
    const { session } = this.props
    // Said again when it is near the first item the next time.
    if (session.more.peek()) session.older().catch(() => {})
  }

  readonly #leave = (): void => this.#timeline.current?.tellPosition()
}

function asks(session: OpenSession, id: string): boolean {
  const row = session.row(id).peek()
  return row?.kind === 'call' && row.questions.length > 0
}

function Loading() {
  return (
    <div class="timeline-head">
      <Spinner /> Older messages
    </div>
  )
}

function Nothing() {
  return (
    <div class="conversation">
      <Empty icon="message-square" title="Nothing said yet">
        Say what to do below. What the agent does appears here.
      </Empty>
    </div>
  )
}
