import {
  defaultRangeExtractor,
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualItem,
  type VirtualizerOptions,
} from '@tanstack/virtual-core'
import { Component, createRef, type ComponentChild, type ComponentChildren, type RefObject } from 'preact'
import { Button } from './button.tsx'

export interface TimelineItem {
  readonly id: string
}

/** This far below the upper edge of an item. */
export interface Anchor {
  id: string
  offset: number
}

/** Where a reader is: at an item, or at the end. */
export interface Position {
  anchor: Anchor | null
  /** Heights that were measured, for the width that they were measured at. */
  heights: { width: number; items: VirtualItem[] } | null
}

export interface TimelineProps<T extends TimelineItem> {
  /** Has the timeline while it is on the page; a `ref` to a component of ours stays empty. */
  handle: RefObject<Timeline<T> | null>
  items: readonly T[]
  render(item: T): ComponentChild
  /** About how high it is, before anybody has seen it. */
  estimate(item: T): number
  /** Ids of items that stay when they are out of sight: somebody may be filling them in. */
  kept: readonly string[]
  /** The reader is near the first item: what comes before it is wanted. */
  onStart(): void
  /** Where the reader was the last time. */
  begin: Position | null
  onPosition(position: Position): void
  label: string
  /** Over the first item. */
  head?: ComponentChildren
}

type Scroller = HTMLDivElement
type Options = VirtualizerOptions<Scroller, HTMLElement>

/** Closer to the end than this is at the end. */
const END_PX = 3
const NEVER = -1
/** Above the first item and below the last one. */
const MARGIN_PX = 12
/** Longer than it takes until a wheel has moved something. */
const RETURN_MS = 200
/** How near the first item is near. */
const START_PX = 1200

interface State {
  /** Somebody reads above the end: how many items have come since. */
  unseen: number | null
}

/**
 * A long list that grows at its end while somebody reads. It alone moves the scroller. At the end it stays at the end; a reader
 * who has gone up is never moved, whatever comes below, and what is put in front or changes its height above keeps the
 * line that is read where it is. A wheel, a finger or a key upwards ends the following at once.
 */
export class Timeline<T extends TimelineItem> extends Component<TimelineProps<T>, State> {
  override state: State = { unseen: null }
  readonly #scroller = createRef<Scroller>()
  readonly #virtual: Virtualizer<Scroller, HTMLElement>
  #following: boolean
  /** The last item that was seen at the end. */
  #seen: string | null = null
  #focused: string | null = null
  #known: { items: readonly T[]; options: Pick<Options, 'getItemKey' | 'estimateSize'> } | null = null
  #lastTop = 0
  #lastHeight = 0
  #width = 0
  #ended: (() => void) | null = null
  #returning: ReturnType<typeof setTimeout> | undefined

  constructor(props: TimelineProps<T>) {
    super(props)
    this.#following = props.begin?.anchor == null
    this.#virtual = new Virtualizer(this.#options(props))
  }

  /** To the newest item, and on with it. */
  toEnd(): void {
    this.#follow(true)
    this.#virtual.scrollToEnd()
  }

  /** Shows an item in the upper half. */
  toItem(id: string): void {
    const index = this.#indexOf(id)
    if (index < 0) return
    this.#follow(false)
    this.#virtual.scrollToIndex(index, { align: 'center' })
  }

  /** To where somebody has been before. */
  toAnchor({ id, offset }: Anchor): void {
    const index = this.#indexOf(id)
    if (index < 0) return
    this.#follow(false)
    const [start] = this.#virtual.getOffsetForIndex(index, 'start') ?? [0]
    this.#virtual.scrollToOffset(start + offset)
  }

  /** Says where the reader is, before the page goes. */
  tellPosition(): void {
    this.props.onPosition(this.#position())
  }

  /** Something that was clicked changes its height: it stays where it is, and what is below moves. */
  hold(): void {
    if (!this.#following) return
    this.#follow(false)
    this.#returnSoon()
  }

  override componentDidMount(): void {
    this.props.handle.current = this
    this.#ended = this.#virtual._didMount()
    this.#virtual._willUpdate()
    const anchor = this.props.begin?.anchor
    if (anchor && this.#indexOf(anchor.id) >= 0) this.toAnchor(anchor)
    else this.toEnd()
    this.#wantStart()
  }

  override componentDidUpdate(): void {
    this.#virtual._willUpdate()
    this.#count()
    this.#wantStart()
  }

  override componentWillUnmount(): void {
    this.props.handle.current = null
    clearTimeout(this.#returning)
    this.tellPosition()
    this.#ended?.()
  }

  override render() {
    const { label, head, items, render } = this.props
    this.#virtual.setOptions(this.#options())
    const shown = this.#virtual.getVirtualItems()
    return (
      <div class="timeline">
        {head}
        <div
          ref={this.#scroller}
          class="timeline-scroller"
          role="log"
          aria-live="off"
          aria-label={label}
          tabIndex={0}
          onWheel={(event) => event.deltaY < 0 && this.#leaveEnd()}
          onTouchMove={() => this.#leaveEnd()}
          onKeyDown={(event) => UPWARDS.has(event.key) && this.#leaveEnd()}
          onScroll={() => this.#scrolled()}
        >
          <div class="timeline-sizer" style={{ height: `${this.#virtual.getTotalSize()}px` }}>
            {shown.map(({ index, key, start }) => (
              <div
                key={key}
                class="timeline-item"
                data-index={index}
                ref={this.#measure}
                style={{ transform: `translateY(${start}px)` }}
                onFocusIn={() => void (this.#focused = String(key))}
              >
                {render(items[index]!)}
              </div>
            ))}
          </div>
        </div>
        {this.state.unseen !== null && <Latest unseen={this.state.unseen} onClick={() => this.toEnd()} />}
      </div>
    )
  }

  readonly #measure = (element: HTMLElement | null): void => this.#virtual.measureElement(element)

  #options(props: TimelineProps<T> = this.props): Options {
    const { items, begin } = props
    return {
      count: items.length,
      getScrollElement: () => this.#scroller.current,
      ...this.#ofItems(props),
      measureElement: heightOf,
      scrollToFn: elementScroll,
      observeElementRect: (instance, tell) =>
        observeElementRect(instance, (rect) => {
          tell(rect)
          this.#resized(rect.width)
        }),
      observeElementOffset,
      overscan: 6,
      paddingStart: MARGIN_PX,
      paddingEnd: MARGIN_PX,
      rangeExtractor: (range) => withKept(defaultRangeExtractor(range), this.#kept(props)),
      anchorTo: 'end',
      followOnAppend: this.#following,
      scrollEndThreshold: this.#following ? END_PX : NEVER,
      initialOffset: Number.MAX_SAFE_INTEGER,
      initialMeasurementsCache: begin?.heights?.width === innerWidth ? begin.heights.items : [],
      onChange: () => this.setState({}),
    }
  }

  #kept({ items, kept }: TimelineProps<T>): number[] {
    const focused = this.#scroller.current?.contains(document.activeElement) ? this.#focused : null
    const ids = focused === null ? kept : [...kept, focused]
    return ids.map((id) => items.findLastIndex((item) => item.id === id)).filter((index) => index >= 0)
  }

  /** Others only when there are other items: otherwise all that was measured would be added up again. */
  #ofItems(props: TimelineProps<T>): Pick<Options, 'getItemKey' | 'estimateSize'> {
    const { items } = props
    if (this.#known?.items === items) return this.#known.options
    const options = {
      getItemKey: (index: number) => items[index]!.id,
      estimateSize: (index: number) => props.estimate(items[index]!),
    }
    this.#known = { items, options }
    return options
  }

  #indexOf(id: string): number {
    return this.props.items.findIndex((item) => item.id === id)
  }

  #isAtEnd(): boolean {
    const element = this.#scroller.current
    return !element || element.scrollHeight - element.clientHeight - element.scrollTop <= END_PX
  }

  #leaveEnd(): void {
    const element = this.#scroller.current
    if (!this.#following || !element || element.scrollHeight <= element.clientHeight) return
    this.#virtual.cancelScroll()
    this.#follow(false)
    this.#returnSoon()
  }

  /** Whoever is at the end all the same follows it again: nothing has moved. */
  #returnSoon(): void {
    clearTimeout(this.#returning)
    this.#returning = setTimeout(() => this.#isAtEnd() && this.#follow(true), RETURN_MS)
  }

  #scrolled(): void {
    const element = this.#scroller.current
    if (!element) return
    const isDown = element.scrollTop >= this.#lastTop
    // A window of another height moves by itself: nobody has gone up.
    const isSameWindow = element.clientHeight === this.#lastHeight
    this.#lastTop = element.scrollTop
    this.#lastHeight = element.clientHeight
    if (this.#isAtEnd()) {
      if (isDown) this.#follow(true)
    } else if (!isDown && isSameWindow) this.#follow(false)
    this.#wantStart()
  }

  /** The scroller has another size: the composer grows, a keyboard comes, the window is turned. */
  #resized(width: number): void {
    if (this.#width !== 0 && this.#width !== width) this.#virtual.measure()
    this.#width = width
    if (this.#following && this.#virtual.scrollElement) this.#virtual.scrollToEnd()
  }

  #follow(following: boolean): void {
    if (this.#following === following) return
    this.#following = following
    if (!following) this.#seen = this.props.items.at(-1)?.id ?? null
    this.#virtual.setOptions(this.#options())
    this.#count()
  }

  #count(): void {
    const unseen = this.#following ? null : this.#unseen()
    if (unseen !== this.state.unseen) this.setState({ unseen })
  }

  #unseen(): number {
    const last = this.#seen === null ? -1 : this.props.items.findLastIndex((item) => item.id === this.#seen)
    return last < 0 ? 0 : this.props.items.length - 1 - last
  }

  #wantStart(): void {
    const element = this.#scroller.current
    if (element && element.scrollTop < START_PX) this.props.onStart()
  }

  #position(): Position {
    const heights = { width: innerWidth, items: this.#virtual.takeSnapshot() }
    const element = this.#scroller.current
    if (this.#following || !element) return { anchor: null, heights }
    const item = this.#virtual.getVirtualItemForOffset(element.scrollTop)
    return { anchor: item ? { id: String(item.key), offset: element.scrollTop - item.start } : null, heights }
  }
}

const UPWARDS: ReadonlySet<string> = new Set(['ArrowUp', 'PageUp', 'Home'])

function withKept(near: number[], kept: readonly number[]): number[] {
  return kept.length === 0 ? near : [...new Set([...near, ...kept])].sort((a, b) => a - b)
}

/** To a part of a pixel: rounded, the lines would creep as somebody scrolls. */
function heightOf(element: HTMLElement, entry: ResizeObserverEntry | undefined): number {
  return entry?.borderBoxSize[0]?.blockSize ?? element.getBoundingClientRect().height
}

function Latest({ unseen, onClick }: { unseen: number; onClick(): void }) {
  const label = unseen === 0 ? 'Jump to the latest' : `${unseen} new`
  return (
    <Button
      class="timeline-latest"
      icon="arrow-down"
      iconOnly={unseen === 0}
      label={label}
      onClick={onClick}
    />
  )
}
