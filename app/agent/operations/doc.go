// Package operations lets the use cases on an unlocked container run inside its agent: the server side answers requests
// on the agent's control socket, the client side implements session.Files and session.Payload over them, so that the
// command line does not see a difference.
//
// Every operation is one POST under /v1/op/ with a JSON document. The answer is a stream of JSON lines: events exactly as
// the command line emits them, entries of a listing, and at last one line of the kind "end" with the result, the problem,
// or both. Files and payloads come as plain bytes instead, with a problem on the way in a trailer. A request whose
// connection ends is cancelled; one that is cancelled by POST /v1/op/cancel ends cleanly and still gives its result.
//
// Whoever can speak to the socket is the owner of the agent: see package agent for who that is. Paths of the host that a
// client names are used with the rights of the agent, which are the same.
package operations
