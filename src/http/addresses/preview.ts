import { INVITATION_PATH } from './links.ts'

/** Path segment of previews of assessments, below the candidates' pages. */
export const PREVIEW_SEGMENT = 'preview'

/** Preview of an assessment, for members who may read it. @param step first page: `invited`, or `question-3`. */
export const previewPath = ({ organization }: { organization: { id: string } }, assessmentId: string, step: string): string =>
  `${INVITATION_PATH}/${PREVIEW_SEGMENT}/${organization.id}/${assessmentId}/${step}`

/** Name of the portal's session cookie. @param isSecure true with HTTPS: other hosts can't set a `__Host-` cookie. */
export const sessionCookie = (isSecure: boolean): string => (isSecure ? '__Host-session' : 'session')
