import { INVITATION_PATH } from './links.ts'

/** Path of the previews of assessments, among the candidates' pages that they show. */
export const PREVIEW = 'preview'

/** The address of a preview. @param step where it begins: `invited`, or `question-3`. It opens only for who is signed in, and may read the assessment. */
export const previewPath = ({ organization }: { organization: { id: string } }, assessmentId: string, step: string): string =>
  `${INVITATION_PATH}/${PREVIEW}/${organization.id}/${assessmentId}/${step}`

/** The cookie of who is signed in to the portal. @param isSecure whether browsers reach the service by HTTPS: no other host can set that name. */
export const sessionCookie = (isSecure: boolean): string => (isSecure ? '__Host-session' : 'session')
