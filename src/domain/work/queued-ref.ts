import { anyOf } from '../../db/query.ts'

/** What a job is about. @property organizationId missing from a job that a process of the release before has queued. */
export type QueuedRef = { id: string; organizationId?: string | undefined }

/** Filter of a job's one row. */
export const rowOf = ({ id, organizationId }: QueuedRef) => ({ id, ...(organizationId !== undefined && { organizationId }) })

/** Filter of the rows of several jobs: where all name their organization, the database looks at those organizations only. */
export function rowsOf(refs: QueuedRef[]) {
  const organizations = new Set(refs.map(({ organizationId }) => organizationId))
  const ids = { id: anyOf(refs.map(({ id }) => id)) }
  return organizations.has(undefined) ? ids : { ...ids, organizationId: anyOf([...organizations] as string[]) }
}
