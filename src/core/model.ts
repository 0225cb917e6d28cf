import type { Session } from './session.ts'

/**
 * The model of a session, the same for everybody who asks: the one that its agent says it uses; until it has said so, the one
 * that was chosen last. Null: the agent chooses, and has not said which.
 */
export function modelInUse({ model, usedModel }: Pick<Session, 'model' | 'usedModel'>): string | null {
  return usedModel ?? model
}
