import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { pageTitle } from '../state/attention-sign.ts'
import { StatusLine } from './status.tsx'

/** A page with its heading. The window is named after it, and who comes here by a link begins at its heading. */
export function Page({
  title,
  actions,
  children,
}: {
  title: string
  actions?: ComponentChildren
  children: ComponentChildren
}) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => void (pageTitle.value = title), [title])
  useEffect(() => heading.current?.focus({ preventScroll: true }), [])
  return (
    <div class="page">
      <header class="page-head">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {actions}
        <StatusLine />
      </header>
      {children}
    </div>
  )
}
