import { useEffect, useRef, useState } from 'preact/hooks'
import { NativeError, type Api, type MethodName } from '../client/client.ts'
import { client, status } from '../state/connection.ts'

/** What a page has asked the daemon for. While it asks again, and if that fails, what it had stays. */
export interface Loaded<T> {
  data: T | null
  /** Why the last try failed; null: it did not. */
  problem: string | null
  isLoading: boolean
  reload(): void
}

export interface CallOptions {
  /** Asks again so often, while somebody looks. */
  everyMs?: number
  /** Does not ask at all. */
  off?: boolean
}

/** Asks when it is first shown, when the parameters change, and when the daemon has come back. */
export function useCall<M extends MethodName>(
  method: M,
  params: Api[M]['params'],
  { everyMs, off = false }: CallOptions = {},
): Loaded<Api[M]['result']> {
  const [state, setState] = useState<Omit<Loaded<Api[M]['result']>, 'reload'>>(NOTHING)
  const asked = useRef(0)
  const key = JSON.stringify([method, params])
  const isLive = status.value === 'live'

  function reload(): void {
    const mine = ++asked.current
    const isMine = (): boolean => asked.current === mine
    setState((before) => ({ ...before, isLoading: true }))
    call(method, params).then(
      (data) => isMine() && setState({ data, problem: null, isLoading: false }),
      (error: unknown) =>
        isMine() && setState(({ data }) => ({ data, problem: problemOf(error), isLoading: false })),
    )
  }

  useEffect(() => {
    setState(NOTHING)
  }, [key])
  useEffect(() => {
    if (off || !isLive) return
    reload()
    const stop = everyMs === undefined ? undefined : whileVisible(reload, everyMs)
    return () => {
      asked.current += 1
      stop?.()
    }
  }, [key, off, isLive])
  return { ...state, reload }
}

const NOTHING = { data: null, problem: null, isLoading: true }

function call<M extends MethodName>(method: M, params: Api[M]['params']): Promise<Api[M]['result']> {
  const ask = client().call as (method: M, params: Api[M]['params']) => Promise<Api[M]['result']>
  return ask(method, params)
}

function whileVisible(work: () => void, everyMs: number): () => void {
  const timer = setInterval(() => {
    if (document.visibilityState === 'visible') work()
  }, everyMs)
  return () => clearInterval(timer)
}

/** For people. */
export function problemOf(error: unknown): string {
  if (error instanceof NativeError && error.code === 'forbidden') {
    return 'This device may not do that. On the computer that runs Corral, let it in again with corral pair --manage.'
  }
  return error instanceof Error ? error.message : String(error)
}
