/** With a label it says what is waited for; without one somebody else does. */
export function Spinner({ label }: { label?: string }) {
  if (label === undefined) return <span class="spinner" aria-hidden="true" />
  return (
    <div class="loading" role="status">
      <span class="spinner" aria-hidden="true" />
      {label}
    </div>
  )
}
