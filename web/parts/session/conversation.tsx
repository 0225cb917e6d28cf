import { Component, createRef, type RefObject } from 'preact'
import { effect } from '@preact/signals'
import type { SessionView } from '../../../src/dialects/native/wire.ts'
import { placeIn } from '../../state/found.ts'
import { keepPosition, positionIn } from '../../state/positions.ts'
import { query } from '../../state/router.ts'
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
  /** Has the conversation while it is on the page. */
  handle: RefObject<ConversationHandle | null>
  session: OpenSession
  view: SessionView
  /** Somebody wants to say it again. */
  onReuse(text: string): void
}

interface State {
  /** Somebody has just jumped here. */
  found: string | null
  /** Counted, so that each is drawn. */
  jumps: number
}

/** How long a place that was jumped to stands out. */
const SHOWN_MS = 2000

/** All that was said and done, as far as it was read. */
export class Conversation extends Component<ConversationProps, State> implements ConversationHandle {
  override state: State = { found: null, jumps: 0 }
  readonly #timeline = createRef<Timeline<VisibleRow>>()
  readonly #root = createRef<HTMLDivElement>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #stop: (() => void) | undefined
  readonly #begin: Position | null

  constructor(props: ConversationProps) {
    super(props)
    this.#begin = positionIn(props.session.id)
  }

  async show(seq: number, turnId: string | null): Promise<void> {
    const id = await this.props.session.reach(seq, turnId)
    if (id === null) return
    this.#jump(id, (timeline) => timeline.toItem(id))
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.setState({ found: null }), SHOWN_MS)
  }

  focus(): void {
    this.#root.current?.querySelector<HTMLElement>('[role="log"]')?.focus()
  }

  override componentDidMount(): void {
    this.props.handle.current = this
    addEventListener('pagehide', this.#leave)
    if (placeIn(query.peek()) === null) void this.#return()
    // Somebody may be led to another place of the session that is open.
    this.#stop = effect(() => {
      const place = placeIn(query.value)
      if (place) void this.show(place.seq, place.turnId)
    })
  }

  /** To where the reader was, if that was before the newest part. */
  async #return(): Promise<void> {
    const { session } = this.props
    const anchor = this.#begin?.anchor
    if (!anchor || session.peek(anchor.id)) return
    if (await session.reachRow(anchor.id)) this.#jump(null, (timeline) => timeline.toAnchor(anchor))
  }

  /** When the rows that were read on the way are there. */
  #jump(found: string | null, move: (timeline: Timeline<VisibleRow>) => void): void {
    this.setState(
      ({ jumps }) => ({ found, jumps: jumps + 1 }),
      () => this.#timeline.current && move(this.#timeline.current),
    )
  }

  override componentWillUnmount(): void {
    this.props.handle.current = null
    removeEventListener('pagehide', this.#leave)
    this.#stop?.()
    clearTimeout(this.#timer)
  }

  override render() {
    const { session, view, onReuse } = this.props
    const items = session.order.value
    if (items.length === 0) return session.more.value ? <Loading /> : <Nothing />
    return (
      <div class="conversation" ref={this.#root}>
        <Timeline
          handle={this.#timeline}
          items={items}
          label="Conversation"
          begin={this.#begin}
          head={session.more.value && <Loading />}
          estimate={({ id }) => estimateOf(session.peek(id))}
          kept={session.asking()}
          onStart={this.#older}
          onPosition={(position) => keepPosition(session.id, position)}
          render={({ id, depth }) => (
            <RowView
              id={id}
              depth={depth}
              session={session}
              view={view}
              isFound={id === this.state.found}
              onReuse={onReuse}
              onToggle={this.#toggle}
            />
          )}
        />
      </div>
    )
  }

  readonly #toggle = (id: string): void => {
    this.#timeline.current?.hold()
    this.props.session.toggle(id)
  }

  readonly #older = (): void => {
    const { session } = this.props
    // Said again when it is near the first item the next time.
    if (session.more.peek()) session.older().catch(() => {})
  }

  readonly #leave = (): void => this.#timeline.current?.tellPosition()
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
