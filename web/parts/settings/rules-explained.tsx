import { CLASSES } from '../../state/rule-book.ts'

/** The most important of docs/rules.md. */
export function RulesExplained() {
  return (
    <details>
      <summary>What a rule says</summary>
      <div class="stack">
        <p>
          A rule is <code>NAME</code> or <code>NAME(PATTERN)</code>. The name is a class of tools, which means
          the same for every agent, or the name of a tool. In a pattern <code>*</code> stands for any
          characters.
        </p>
        <table class="table small">
          <thead>
            <tr>
              <th scope="col">Class</th>
              <th scope="col">The agent wants to</th>
              <th scope="col">The pattern is compared with</th>
            </tr>
          </thead>
          <tbody>
            {CLASSES.map(({ name, what, pattern }) => (
              <tr key={name}>
                <td>
                  <code>{name}</code>
                </td>
                <td>{what}</td>
                <td>{pattern}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <p>
          A rule that refuses wins over everything else, and holds in every mode. For{' '}
          <code>shell(git push*)</code> it looks at every command that a line would run, however it is
          written: in pipes, in quotes, in <code>sh -c</code>. What cannot be known before it runs is refused
          if the rule could fit it.
        </p>
        <p>
          A rule that allows is for one command: a line passes only if each of its commands is allowed. Agents
          do some things without asking; no rule can keep them from those, and a warning says so.
        </p>
      </div>
    </details>
  )
}
