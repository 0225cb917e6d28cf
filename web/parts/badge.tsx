import type { ComponentChildren } from 'preact'

export type Tone = 'plain' | 'needs' | 'working' | 'good' | 'bad' | 'accent'

/** A word or a number. `label` is what a number means, for those who only hear it. */
export function Badge({
  tone = 'plain',
  label,
  children,
}: {
  tone?: Tone
  label?: string
  children: ComponentChildren
}) {
  return (
    <span class={`badge badge-${tone}`}>
      {label === undefined ? (
        children
      ) : (
        <>
          <span aria-hidden="true">{children}</span>
          <span class="aside">{label}</span>
        </>
      )}
    </span>
  )
}
