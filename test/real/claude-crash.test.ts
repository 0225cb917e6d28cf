import { after, describe } from 'node:test'
import { claudeAbsent, scriptedClaude } from '../support/claude-env.ts'
import { crashSuite } from '../support/crash.ts'

describe('the real claude', { skip: claudeAbsent }, () => {
  let close: (() => Promise<void>) | null = null
  after(() => close?.())
  crashSuite({
    agent: 'claude',
    rounds: 5,
    async options() {
      const model = await scriptedClaude()
      close = model.close
      return { env: model.env }
    },
  })
})
