//! A thin MCP client over raw bytes: stdio and Streamable HTTP, both eras, many connections.
