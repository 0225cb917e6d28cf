/** Answers approvals of all sessions by a policy, and leaves to a human what it does not cover: `node approvals.ts` */
import { connect, type Approval } from 'corral/client'

function policy({ about }: Approval): 'allow' | 'deny' | null {
  const [subject = ''] = about.subjects
  if (about.class === 'read' || about.class === 'search') return 'allow'
  if (about.class === 'shell' && /^(npm test|git (status|diff|log))\b[^;&|$`]*$/.test(subject)) return 'allow'
  if (about.class === 'shell' && /\bsudo\b/.test(subject)) return 'deny'
  return null
}

await using corral = await connect({ name: 'policy' })
process.once('SIGINT', () => corral.close())

for await (const approval of corral.approvals()) {
  const what = approval.about.subjects.join(' ') || approval.tool
  const wanted = policy(approval)
  if (wanted === null) {
    console.log(`left to a human: ${what}`)
    continue
  }
  const verdict = wanted === 'allow' ? await approval.allow() : await approval.deny('not on this machine')
  console.log(`${verdict.decision.behavior} by ${verdict.by}: ${what}`)
}
