import { anthropicUpstream } from './anthropic.ts'
import { openaiUpstream } from './openai.ts'
import type { UpstreamConfig, UpstreamProvider } from './upstream.ts'

/** The upstreams of the settings, as providers. */
export interface Upstreams {
  /** In their order. Whatever has not been changed is the same provider as before, with its connections and its health. */
  providers(): UpstreamProvider[]
  close(): void
}

export function createUpstreams(configs: () => readonly UpstreamConfig[]): Upstreams {
  let known = new Map<string, UpstreamProvider>()
  let seen: readonly UpstreamConfig[] = []
  let list: UpstreamProvider[] = []

  return {
    providers() {
      const wanted = configs()
      if (wanted === seen) return list
      seen = wanted
      // One that goes may have calls under way: it ends with them, and its idle connections with their time.
      const next = new Map(wanted.map((config) => [JSON.stringify(config), config] as const))
      known = new Map([...next].map(([text, config]) => [text, known.get(text) ?? upstreamOf(config)]))
      list = [...known.values()]
      return list
    },
    close() {
      for (const provider of list) provider.close()
    },
  }
}

function upstreamOf(config: UpstreamConfig): UpstreamProvider {
  return config.kind === 'anthropic' ? anthropicUpstream(config) : openaiUpstream(config)
}
