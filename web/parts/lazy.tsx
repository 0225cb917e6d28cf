import { STYLES } from 'corral:assets'
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Button } from './button.tsx'
import { Empty } from './empty.tsx'
import { Spinner } from './spinner.tsx'

/** A component that is loaded, with the style sheet of its name in style/lazy/, when it is first shown. */
export function lazy<P extends object>(
  name: string,
  load: () => Promise<ComponentType<P>>,
): (props: P) => preact.JSX.Element {
  let loaded: ComponentType<P> | null = null
  let loading: Promise<void> | null = null

  async function begin(): Promise<void> {
    const [component] = await Promise.all([load(), addStyle(STYLES[name])])
    loaded = component
  }

  return function Lazy(props: P) {
    const [state, setState] = useState<'loading' | 'there' | 'failed'>(loaded ? 'there' : 'loading')
    useEffect(() => {
      if (loaded) return
      loading ??= begin().finally(() => (loading = null))
      loading.then(
        () => setState('there'),
        () => setState('failed'),
      )
    }, [])
    if (state === 'failed') return <Failed />
    if (!loaded) return <Spinner label="Loading" />
    const Component = loaded
    return <Component {...props} />
  }
}

/** The daemon has a newer dashboard, without this file, or cannot be reached. */
function Failed() {
  const again = <Button icon="refresh-cw" label="Reload" onClick={() => location.reload()} />
  return (
    <Empty icon="wifi-off" title="This page could not be loaded" actions={again}>
      The daemon cannot be reached, or has been updated since.
    </Empty>
  )
}

function addStyle(href: string | undefined): Promise<void> {
  const isThere = [...document.querySelectorAll('link[rel="stylesheet"]')].some(
    (link) => link.getAttribute('href') === href,
  )
  if (href === undefined || isThere) return Promise.resolve()
  return new Promise((resolve, reject) => {
    const link = document.createElement('link')
    link.rel = 'stylesheet'
    link.href = href
    link.addEventListener('load', () => resolve())
    link.addEventListener('error', () => {
      link.remove()
      reject(new Error(`${href} could not be loaded`))
    })
    document.head.append(link)
  })
}
