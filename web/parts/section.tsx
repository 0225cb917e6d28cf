import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

/** A part of a page with a heading of its own. */
export function Section({
  title,
  about,
  actions,
  children,
  id,
}: {
  title: string
  /** What it is about, in a line. */
  about?: ComponentChildren
  actions?: ComponentChildren
  children?: ComponentChildren
  id?: string
}) {
  const heading = useId()
  return (
    <section class="section" id={id} aria-labelledby={heading}>
      <header class="section-head">
        <div>
          <h2 id={heading}>{title}</h2>
          {about !== undefined && <p class="muted small">{about}</p>}
        </div>
        {actions !== undefined && <div class="section-actions">{actions}</div>}
      </header>
      {children}
    </section>
  )
}

/** Names and values, one below the other. */
export function Facts({
  rows,
}: {
  rows: readonly (readonly [name: string, value: ComponentChildren] | null)[]
}) {
  return (
    <dl class="facts">
      {rows
        .filter((row) => row !== null)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}

/** A number with what it counts. */
export function Figure({ name, value, hint }: { name: string; value: ComponentChildren; hint?: string }) {
  return (
    <div class="figure" title={hint}>
      <div class="figure-value numbers">{value}</div>
      <div class="figure-name">{name}</div>
    </div>
  )
}
