// JSON Schema keywords of this service. OpenAPI documents omit them.

/** Component name in OpenAPI documents. */
export const NAME = 'x-name'
/** Schema of the object that may replace this id when it is expanded. For documents only: serializers use the id's schema. */
export const EXPANDED_OBJECT = 'x-object'
/** Schema for documents, where serializers need less detail. */
export const DOCUMENTED_AS = 'x-shown-as'
/** Names of the response headers that come with a body of this schema. */
export const HEADERS = 'x-headers'
/** Pattern that is validated but not documented. */
export const HIDDEN_PATTERN = 'x-pattern'
/** Trims a string before its length is validated. */
export const TRIM = 'x-trim'
/** Media types of a body other than JSON. */
export const MEDIA_TYPES = 'x-media-types'
