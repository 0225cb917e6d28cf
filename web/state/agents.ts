import { useEffect, useState } from 'preact/hooks'
import type { Api } from '../client/client.ts'
import { client } from './connection.ts'
import { wordsOf } from './session-actions.ts'

export type AgentReport = Api['agents.list']['result']['agents'][number]

/** Those that can be used now first, then those that need a sign-in, then the rest; the demo agent after real ones. */
export function inUsefulOrder(agents: readonly AgentReport[]): AgentReport[] {
  const rank = ({ installed, signIn, name }: AgentReport): number =>
    !installed ? 3 : signIn !== null ? 2 : name === 'demo' ? 1 : 0
  return agents.toSorted((a, b) => rank(a) - rank(b))
}

/** The agents of the machine, looked for when first wanted and when asked again. */
export function useAgents() {
  const [agents, setAgents] = useState<AgentReport[] | null>(null)
  const [problem, setProblem] = useState<string | null>(null)

  async function again(): Promise<void> {
    try {
      setAgents(inUsefulOrder((await client().call('agents.list')).agents))
      setProblem(null)
    } catch (error) {
      setProblem(`The agents could not be listed: ${wordsOf(error)}`)
    }
  }

  useEffect(() => void again(), [])
  return { agents, problem, again }
}
