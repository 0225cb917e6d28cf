import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { IconName } from '../icons.ts'
import { Icon } from './icon.tsx'

export interface MenuItem {
  label: string
  icon?: IconName
  danger?: boolean
  /** One of several, of which one is chosen. */
  checked?: boolean
  run(): void
}

export interface MenuProps {
  /** What the button is for. */
  label: string
  icon?: IconName
  /** Only the icon is shown. */
  iconOnly?: boolean
  items: readonly MenuItem[]
  kind?: 'plain' | 'quiet'
  /** Where the list opens; to the left and down unless told. */
  side?: 'left' | 'right'
  up?: boolean
  class?: string
}

/** A button that opens a list of things to do. Arrow keys move, Escape closes, the focus comes back to the button. */
export function Menu(props: MenuProps) {
  const { label, icon, iconOnly = false, items, kind = 'plain', side = 'right', up = false } = props
  const [open, setOpen] = useState(false)
  const root = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const id = useId()
  useOutside(root, open, () => setOpen(false))
  useEffect(() => {
    if (open) itemsIn(root.current)[0]?.focus()
  }, [open])

  function close(): void {
    setOpen(false)
    button.current?.focus()
  }

  const look = props.class ?? `button button-${kind} ${iconOnly ? 'button-icon' : ''}`
  const place = `menu-list ${side === 'left' ? 'menu-list-left' : ''} ${up ? 'menu-list-up' : ''}`
  return (
    <div class="menu" ref={root} onKeyDown={(event) => moveBy(event, root.current, close)}>
      <button
        ref={button}
        type="button"
        class={look}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        aria-label={iconOnly ? label : undefined}
        title={iconOnly ? label : undefined}
        onClick={() => setOpen(!open)}
      >
        {icon && <Icon name={icon} />}
        {!iconOnly && label}
      </button>
      {open && (
        <div class={place} id={id} role="menu" aria-label={label}>
          {items.map((item) => (
            <Item key={item.label} item={item} close={close} />
          ))}
        </div>
      )}
    </div>
  )
}

function Item({ item, close }: { item: MenuItem; close(): void }) {
  const { label, icon, danger = false, checked, run } = item
  return (
    <button
      type="button"
      class={`menu-item ${danger ? 'menu-item-danger' : ''}`}
      role={checked === undefined ? 'menuitem' : 'menuitemradio'}
      aria-checked={checked}
      tabIndex={-1}
      onClick={() => {
        close()
        run()
      }}
    >
      {icon && <Icon name={icon} />}
      {label}
    </button>
  )
}

function itemsIn(root: HTMLElement | null): HTMLElement[] {
  return [...(root?.querySelectorAll<HTMLElement>('[role^="menuitem"]') ?? [])]
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }

function moveBy(event: KeyboardEvent, root: HTMLElement | null, close: () => void): void {
  const items = itemsIn(root)
  if (items.length === 0) return
  if (event.key === 'Escape' || event.key === 'Tab') {
    if (event.key === 'Escape') event.stopPropagation()
    return close()
  }
  const at = items.indexOf(document.activeElement as HTMLElement)
  const ends: Readonly<Record<string, number>> = { Home: 0, End: items.length - 1 }
  const step = STEPS[event.key]
  const next = step === undefined ? ends[event.key] : (at + step + items.length) % items.length
  if (next === undefined) return
  event.preventDefault()
  items[next]?.focus()
}

function useOutside(root: { current: HTMLElement | null }, active: boolean, leave: () => void): void {
  useEffect(() => {
    if (!active) return
    const onDown = (event: Event): void => {
      if (!root.current?.contains(event.target as Node)) leave()
    }
    document.addEventListener('pointerdown', onDown)
    return () => document.removeEventListener('pointerdown', onDown)
  }, [active])
}
