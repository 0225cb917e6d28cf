import type { RefObject } from 'preact'
import { useEffect } from 'preact/hooks'

/** The person works in the list, even if what they worked on has just gone. */
let isInList = false

/** What they worked on has gone, and the browser has put the focus nowhere. */
export function hasLostFocus(): boolean {
  return isInList && document.activeElement === document.body
}

/** Minds whether the focus is in this list. It leaves when something else gets it, not when its element goes. */
export function useListFocus(list: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const look = ({ target }: Event): void => {
      isInList = target instanceof Node && list.current?.contains(target) === true
    }
    document.addEventListener('focusin', look)
    document.addEventListener('pointerdown', look)
    return () => {
      isInList = false
      document.removeEventListener('focusin', look)
      document.removeEventListener('pointerdown', look)
    }
  }, [])
}
