import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** How far a finger must go for it to count. */
const FAR_PX = 88
/** Before that it is not clear which way it goes. */
const CLEAR_PX = 10

/** What a finger does; without it, it does not move anything that way. */
export interface SwipeActs {
  right: (() => void) | null
  left: (() => void) | null
}

/** A finger that moves something aside, far enough, does something; what it would do shows below it meanwhile. */
export function useSwipe(ref: RefObject<HTMLElement | null>, acts: SwipeActs): void {
  const latest = useRef(acts)
  latest.current = acts
  useEffect(() => {
    const element = ref.current
    if (!element) return
    const swipe = new Swipe(element, (dx) => (dx > 0 ? latest.current.right : latest.current.left))
    const names = ['pointerdown', 'pointermove', 'pointerup', 'pointercancel'] as const
    for (const name of names) element.addEventListener(name, swipe)
    return () => names.forEach((name) => element.removeEventListener(name, swipe))
  }, [])
}

/** One finger on one element. */
class Swipe implements EventListenerObject {
  readonly #element: HTMLElement
  readonly #actOf: (dx: number) => (() => void) | null
  #start: { x: number; y: number; id: number } | null = null
  #isAside = false
  #moved = 0

  constructor(element: HTMLElement, actOf: (dx: number) => (() => void) | null) {
    this.#element = element
    this.#actOf = actOf
  }

  handleEvent(event: Event): void {
    if (!(event instanceof PointerEvent)) return
    if (event.type === 'pointerdown') this.#down(event)
    else if (event.pointerId !== this.#start?.id) return
    else if (event.type === 'pointermove') this.#move(event, this.#start)
    else this.#end(event.type === 'pointerup')
  }

  #down({ pointerType, isPrimary, clientX, clientY, pointerId, target }: PointerEvent): void {
    const isTyping = target instanceof Element && target.closest('input:not([type="checkbox"]), textarea')
    if (pointerType === 'mouse' || !isPrimary || isTyping) return
    this.#start = { x: clientX, y: clientY, id: pointerId }
    this.#isAside = false
    this.#moved = 0
  }

  #move({ clientX, clientY }: PointerEvent, start: { x: number; y: number }): void {
    const [dx, dy] = [clientX - start.x, clientY - start.y]
    if (!this.#isAside && Math.abs(dy) > CLEAR_PX && Math.abs(dy) >= Math.abs(dx)) return this.#end(false)
    if (!this.#isAside && Math.abs(dx) < CLEAR_PX) return
    this.#isAside = true
    if (!this.#actOf(dx)) return this.#putBack()
    this.#moved = dx
    this.#element.dataset['swipe'] = dx > 0 ? 'right' : 'left'
    this.#element.style.setProperty('--swipe', `${dx}px`)
    this.#element.toggleAttribute('data-far', Math.abs(dx) >= FAR_PX)
  }

  #end(counts: boolean): void {
    const moved = this.#moved
    this.#start = null
    this.#putBack()
    // A finger that has moved this far makes no click.
    if (counts && this.#isAside && Math.abs(moved) >= FAR_PX) this.#actOf(moved)?.()
  }

  #putBack(): void {
    this.#moved = 0
    delete this.#element.dataset['swipe']
    this.#element.removeAttribute('data-far')
    this.#element.style.removeProperty('--swipe')
  }
}
