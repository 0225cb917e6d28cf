import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { cursor } from '../state/now-view.ts'

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

/** The link of a row, which has the focus when the keys are at the row. */
export function useCursor(id: string): RefObject<HTMLAnchorElement | null> {
  const link = useRef<HTMLAnchorElement>(null)
  const isHere = cursor.value?.id === id
  const seek = isHere ? cursor.value!.seek : 0
  // Before the next key: a focus that comes later would take the cursor back to this row.
  useLayoutEffect(() => {
    if (seek > 0) link.current?.focus()
  }, [seek])
  useEffect(() => {
    // A row that moves to another place of the list loses the focus in the browser, but not for the person.
    if (isHere && hasLostFocus()) link.current?.focus()
  })
  return link
}
