import type { KindFormat } from '../neutral.ts'

/** None of the file formats has questions of this kind, so an export names the loss. */
export const fileFormat: KindFormat = { toDefinition: () => undefined, toAnswer: () => undefined }
