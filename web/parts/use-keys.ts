import { useLayoutEffect, useRef } from 'preact/hooks'
import { type Action, HELD, type KeyContext, meaningOf, pressedKey } from '../state/keys.ts'

/** False: it was not for me, somebody else may have it. */
type Handler = () => boolean | void
type Handlers<C extends KeyContext> = Partial<Record<Action<C>, Handler>>

interface Layer {
  context: KeyContext
  current: Record<string, Handler | undefined>
}

/** Those that hold now; what was added last is nearest. */
const layers: Layer[] = []

/** Does these things when their keys are pressed, for as long as the component is shown. */
export function useKeys<C extends KeyContext>(context: C, handlers: Handlers<C>): void {
  const layer = useRef<Layer>({ context, current: {} })
  layer.current.current = handlers as Record<string, Handler | undefined>
  // At once: what is on the screen can be pressed.
  useLayoutEffect(() => {
    const mine = layer.current
    layers.push(mine)
    return () => void layers.splice(layers.indexOf(mine), 1)
  }, [])
}

const PENDING_MS = 1000

/** Once, for the whole page. */
export function listenForKeys(): void {
  let pending: string | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  document.addEventListener('keydown', (event) => {
    const pressed = pressedKey(event)
    if (pressed === null || event.defaultPrevented || event.isComposing || isTaken(event, pressed)) return
    const meaning = meaningOf(pressed, pending, nearestFirst())
    clearTimeout(timer)
    pending = null
    if (meaning === null) return
    if ('pending' in meaning) {
      pending = meaning.pending
      timer = setTimeout(() => (pending = null), PENDING_MS)
    } else if (event.repeat && !HELD.has(meaning.action)) event.preventDefault()
    else if (perform(meaning.context, meaning.action)) event.preventDefault()
  })
}

function nearestFirst(): KeyContext[] {
  return [...new Set(layers.toReversed().map(({ context }) => context))]
}

function perform(context: KeyContext, action: string): boolean {
  for (const layer of layers.toReversed()) {
    const handler = layer.context === context ? layer.current[action] : undefined
    if (handler && handler() !== false) return true
  }
  return false
}

const TYPING =
  'input:not([type="checkbox"], [type="radio"], [type="button"]), textarea, select, [contenteditable]'
/** What these do with Enter and Space is theirs. */
const PRESSABLE = 'button, summary, input, [role="menu"], [role="listbox"]'

/** Somebody types, or what has the focus has a use for this key itself. */
function isTaken(event: KeyboardEvent, pressed: string): boolean {
  if (pressed === 'Mod+k') return false
  const target = event.target instanceof Element ? event.target : null
  if (target?.closest('dialog, [role="menu"]') || target?.closest(TYPING)) return true
  if (document.querySelector('dialog[open]')) return true
  if (pressed === 'Enter') return target?.closest(`a[href], ${PRESSABLE}`) != null
  return pressed === 'Space' && target?.closest(PRESSABLE) != null
}

/** Presses the answer of this number on a decision card; says whether there is one. */
export function pressAnswer(root: ParentNode | null | undefined, number: number): boolean {
  const button = root?.querySelector<HTMLElement>(`[data-answer="${number}"]`)
  if (!button || button.getAttribute('aria-disabled') === 'true') return false
  button.focus()
  button.click()
  return true
}
