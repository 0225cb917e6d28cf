import { useMemo, useState } from 'preact/hooks'
import type { FileChange } from '../../../src/core/file-change.ts'
import { plural, count } from '../../state/figures.ts'
import { totalOf } from '../../state/series.ts'
import { inertLine } from '../inert.ts'
import { Counts } from './file-row.tsx'

/** Above so many, one looks for a name instead of reading them all. */
const MANY = 12

interface FileListProps {
  files: readonly FileChange[]
  truncated: boolean
  onChoose(path: string): void
}

/** Every file that has changed; a click goes there. */
export function FileList({ files, truncated, onChoose }: FileListProps) {
  const [filter, setFilter] = useState('')
  const shown = useMemo(() => {
    const wanted = filter.trim().toLowerCase()
    return wanted === '' ? files : files.filter(({ path }) => path.toLowerCase().includes(wanted))
  }, [files, filter])
  return (
    <nav class="changes-files" aria-label="Files">
      <div class="along small">
        <strong>{plural(files.length, 'file')}</strong>
        <Counts file={totals(files)} />
        {truncated && <span class="muted">and more than can be shown</span>}
      </div>
      {files.length > MANY && (
        <input
          class="input"
          type="search"
          placeholder="Filter files"
          aria-label="Filter files"
          value={filter}
          onInput={({ currentTarget }) => setFilter(currentTarget.value)}
        />
      )}
      <ul>
        {shown.map((file) => (
          <li key={file.path}>
            <button type="button" class="changes-file" onClick={() => onChoose(file.path)}>
              <Name path={file.path} />
              <Counts file={file} />
            </button>
          </li>
        ))}
      </ul>
      {shown.length === 0 && <p class="muted small">No file has such a name.</p>}
    </nav>
  )
}

function totals(files: readonly FileChange[]): Pick<FileChange, 'additions' | 'deletions'> {
  return {
    additions: totalOf(files, ({ additions }) => additions),
    deletions: totalOf(files, ({ deletions }) => deletions),
  }
}

/** The name first: directories are cut before it is. */
function Name({ path }: { path: string }) {
  const at = path.lastIndexOf('/') + 1
  return (
    <span class="changes-file-name" title={inertLine(path)}>
      <span>{inertLine(path.slice(at))}</span>
      {at > 0 && <span class="muted small">{inertLine(path.slice(0, at - 1))}</span>}
    </span>
  )
}

/** The same for a narrow screen: one control instead of a column. */
export function FileChoice({ files, truncated, onChoose }: FileListProps) {
  const all = totals(files)
  return (
    <select
      class="input"
      aria-label="Go to a file"
      value=""
      onChange={({ currentTarget }) => onChoose(currentTarget.value)}
    >
      <option value="" disabled>
        {plural(files.length, 'file')}, +{count(all.additions)} −{count(all.deletions)}
        {truncated ? ', and more' : ''}
      </option>
      {files.map(({ path, additions, deletions }) => (
        <option key={path} value={path}>
          {inertLine(path)} +{additions} −{deletions}
        </option>
      ))}
    </select>
  )
}
